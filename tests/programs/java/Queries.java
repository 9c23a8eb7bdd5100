// SPDX-License-Identifier: Apache-2.0
import org.apache.spark.sql.SparkSession;

/* Spark's SQL in one process: joins, groups and sorts without end. */
public class Queries {
    public static void main(String[] args) {
        SparkSession spark = SparkSession.builder().master("local[2]").appName("load")
            .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "8")
            .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
            .getOrCreate();
        while (true) {
            spark.range(0, 300000)
                .selectExpr("id % 1000 AS k", "CAST(id AS string) AS v", "id * 3 AS w")
                .createOrReplaceTempView("t");
            spark.sql("SELECT a.k, count(*) c, sum(a.w) w, max(upper(a.v)) m FROM t a "
                      + "JOIN (SELECT DISTINCT k FROM t) b ON a.k = b.k GROUP BY a.k "
                      + "ORDER BY w DESC").collectAsList();
        }
    }
}
