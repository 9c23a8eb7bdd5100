# SPDX-License-Identifier: Apache-2.0
"""
Real programs in Java under load, on each JDK that they run on. They come from Maven Central by
Debian's Maven, and are kept in the cache folder: the first use takes some minutes.
"""
import dataclasses
import functools
import shutil
import subprocess

import jdks
from programs import Program

MAVEN = jdks.CACHE / "maven"
FETCH_LIMIT = 900 # s, for one set of files
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>skein</groupId><artifactId>{name}</artifactId><version>1</version>
<packaging>{packaging}</packaging>
<properties><maven.compiler.source>17</maven.compiler.source>
<maven.compiler.target>17</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies>{dependencies}</dependencies></project>
"""
# Artifacts by the name of their set: group:artifact:version, then "sources", or "alone" for one
# without its dependencies.
SETS = {
    "lang": ["org.apache.commons:commons-lang3:3.14.0:sources"],
    "jetty": ["org.eclipse.jetty:jetty-runner:9.4.57.v20241219"],
    "netty": ["io.netty:netty-all:4.1.118.Final", "io.netty:netty-example:4.1.118.Final:alone"],
    "pekko": ["org.apache.pekko:pekko-actor-typed_2.13:1.1.3"],
    "spark": ["org.apache.spark:spark-sql_2.13:4.0.0"],
    "hadoop": [f"org.apache.hadoop:{name}:3.3.6" for name in (
        "hadoop-mapreduce-examples", "hadoop-mapreduce-client-jobclient", "hadoop-common")],
}
# What Spark's launcher opens, since Spark uses private parts of the JDK.
OPENED = ("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio",
          "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch",
          "sun.nio.cs", "sun.security.action", "sun.util.calendar")


def _dependency(coordinates):
    group, artifact, version, *more = coordinates.split(":")
    kind = "".join({
        "sources": "<classifier>sources</classifier>",
        "alone": "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId>"
                 "</exclusion></exclusions>"}[m] for m in more)
    return (f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version>{kind}</dependency>")


def _maven(folder, *goals):
    run = subprocess.run(["mvn", "-q", "-B", f"-Dmaven.repo.local={MAVEN / 'repository'}", *goals],
                         cwd=folder, capture_output=True, timeout=FETCH_LIMIT, check=False)
    return run.returncode == 0


@functools.cache
def fetched(name):
    """Return the folder with the files of a set, which are downloaded once; None without them."""
    folder = MAVEN / name
    if (folder / "complete").exists():
        return folder
    if not shutil.which("mvn"):
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "pom.xml").write_text(POM.format(
        name=name, packaging="pom", dependencies="".join(map(_dependency, SETS[name]))))
    if not _maven(folder, "dependency:copy-dependencies", f"-DoutputDirectory={folder / 'jars'}"):
        return None
    (folder / "complete").touch()
    return folder


@functools.cache
def project():
    """Return a folder with a project whose plugins Maven has downloaded; None without it."""
    sources, folder = fetched("lang"), MAVEN / "project"
    if not sources or (folder / "complete").exists():
        return folder if sources else None
    shutil.rmtree(folder, ignore_errors=True)
    java = folder / "src/main/java"
    java.mkdir(parents=True)
    (folder / "pom.xml").write_text(POM.format(name="project", packaging="jar", dependencies=""))
    for jar in (sources / "jars").glob("*-sources.jar"):
        shutil.unpack_archive(jar, java, "zip")
    if not _maven(folder, "compile"):
        return None
    shutil.rmtree(folder / "target")
    (folder / "complete").touch()
    return folder


@dataclasses.dataclass(frozen=True)
class JavaProgram:
    """
    A program on a JDK. needs: what must have been fetched; the scripts are those of a Program, in
    which $JAVA, $JARS and $PROJECT stand for the program java, a class path, and project().
    """
    name: str
    version: int
    needs: str
    load: str
    prepare: str = ""
    tools: tuple = ()
    options: str = ""

    def why_not(self):
        """Return why the program cannot run here; None if it can."""
        if not jdks.home_of(self.version):
            return f"no JDK {self.version}"
        if self.needs and not (project() if self.needs == "project" else fetched(self.needs)):
            return f"Maven (tools/deps programs) could not fetch {self.needs}"
        missing = self.program().missing()
        return f"not installed: {', '.join(missing)}" if missing else None

    def program(self):
        jars = MAVEN / self.needs / "jars"
        begin = f"""
export JAVA_HOME='{jdks.home_of(self.version)}' PROJECT='{MAVEN / 'project'}'
JAVA=$JAVA_HOME/bin/java; JAVAC='{jdks.tool('javac')}'; JARS='{jars}/*'; OPTIONS='{self.options}'
MVN="mvn -o -q -B -Dmaven.repo.local={MAVEN / 'repository'}"
"""
        return Program(f"{self.name}, JDK {self.version}", ("java",), self.tools,
                       begin + self.load, begin + self.prepare if self.prepare else "")


def _programs(name, versions, needs, load, **more):
    return [JavaProgram(name, version, needs, load, **more) for version in versions]


# A collector that collects nothing ends the program after some seconds.
MIXED_LOAD = """
(while :; do "$JAVA" $OPTIONS -cp . Mixed 2 >said 2>&1 || sleep 0.1; done) &
ready
"""
MIXED_PREPARE = '"$JAVAC" --release 17 -d . "$SOURCES/Mixed.java"'

PROGRAMS = (
    *_programs("javac in a loop", (17, 25), "project", """
mkdir -p out
"$JAVA" -cp . Compile "$PROJECT/src/main/java" out >said 2>&1 &
ready
""", prepare='"$JAVAC" --release 17 -d . "$SOURCES/java/Compile.java"'),
    *_programs("Maven compiles", (17, 25), "project", """
cp -r "$PROJECT" project
cd project
(while rm -rf target && $MVN compile >>../said 2>&1; do :; done; echo "ended: mvn" >>../errors) &
cd ..
ready
""", tools=("mvn",)),
    *_programs("Jetty, wrk", (17, 21, 25), "jetty", """
mkdir -p web
cp "$SOURCES/java/page.jsp" web/
head -c 20000 /dev/urandom | base64 >web/data
"$JAVA" -cp "$JARS" org.eclipse.jetty.runner.Runner --port 7011 --path / web >said 2>&1 &
until_ok bash -c ': </dev/tcp/127.0.0.1/7011'
again wrk -t 1 -c 8 -d 1h http://127.0.0.1:7011/page.jsp &
again wrk -t 1 -c 4 -d 1h http://127.0.0.1:7011/data &
ready
""", tools=("wrk",)),
    *_programs("Netty, wrk", (17, 21, 25), "netty", """
"$JAVA" -cp "$JARS" io.netty.example.http.helloworld.HttpHelloWorldServer >said 2>&1 &
until_ok bash -c ': </dev/tcp/127.0.0.1/8080'
again wrk -t 1 -c 16 -d 1h http://127.0.0.1:8080/ &
ready
""", tools=("wrk",)),
    *_programs("Pekko", (17, 21, 25), "pekko", """
"$JAVA" -cp ".:$JARS" Actors >said 2>&1 &
ready
""", prepare='"$JAVAC" --release 17 -cp "$JARS" -d . "$SOURCES/java/Actors.java"'),
    *_programs("Spark", (17, 21), "spark", f"""
"$JAVA" {' '.join(f'--add-opens=java.base/{p}=ALL-UNNAMED' for p in OPENED)} -cp ".:$JARS" \\
    Queries >said 2>&1 &
ready
""", prepare='"$JAVAC" --release 17 -cp "$JARS" -d . "$SOURCES/java/Queries.java"'),
    *_programs("Hadoop", (17, 21), "hadoop", """
again "$JAVA" -cp "$JARS" org.apache.hadoop.examples.ExampleDriver pi 40 1000000 &
ready
"""),
)

INTERPRETED = _programs("Mixed.java, -Xint", (17, 21, 25), "", MIXED_LOAD, prepare=MIXED_PREPARE,
                        options="-Xint")

# Options that change the JVM's code, by the JDKs that have them.
_OPTIONS = {
    "-XX:+UseSerialGC": (17, 21, 25),
    "-XX:+UseParallelGC": (17, 21, 25),
    "-XX:+UseG1GC": (17, 21, 25),
    "-XX:+UseZGC": (17, 21, 25),
    "-XX:+UseZGC -XX:+ZGenerational": (21,),
    "-XX:+UseShenandoahGC": (17, 21, 25),
    "-XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC -Xmx4g": (17, 21, 25),
    "-XX:-SegmentedCodeCache": (17, 21, 25),
    "-XX:ReservedCodeCacheSize=12m": (17, 21, 25),
    "-XX:TieredStopAtLevel=1": (17, 21, 25),
}


def has_options(version, options):
    """Return whether a JDK accepts the options: not every one is built with every collector."""
    run = subprocess.run([jdks.home_of(version) / "bin/java", *options.split(), "-version"],
                         capture_output=True, check=False)
    return run.returncode == 0


def variants():
    """Return tests/programs/Mixed.java with each set of options that its JDK accepts."""
    return [JavaProgram(f"Mixed.java, {options}", version, "", MIXED_LOAD, prepare=MIXED_PREPARE,
                        options=options)
            for options, versions in _OPTIONS.items() for version in versions
            if jdks.home_of(version) and has_options(version, options)]

