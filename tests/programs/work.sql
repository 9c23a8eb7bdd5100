-- SPDX-License-Identifier: Apache-2.0
CREATE TABLE item (id INTEGER PRIMARY KEY, word TEXT, number REAL);
CREATE TABLE link (a INTEGER, b INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO item SELECT i, printf('word-%d', i * 7919 % 9973), i * 0.5 FROM n;
INSERT INTO link SELECT id, id * 31 % 60000 FROM item;
CREATE INDEX item_word ON item (word);
CREATE INDEX link_b ON link (b);
SELECT word, count(*), sum(number) FROM item GROUP BY word ORDER BY 2 DESC, 1 LIMIT 5;
SELECT count(*) FROM item JOIN link ON item.id = link.b JOIN item AS other ON other.id = link.a;
SELECT count(*) FROM item WHERE word LIKE '%7_3%' OR upper(word) GLOB '*9*';
SELECT sum(length(replace(word, 'word', 'other'))) FROM item;
SELECT word, row_number() OVER (PARTITION BY id % 10 ORDER BY word) FROM item
ORDER BY 2 DESC LIMIT 5;
UPDATE item SET number = number + (SELECT count(*) FROM link WHERE b = item.id);
DELETE FROM item WHERE id % 3 = 0;
VACUUM;
PRAGMA integrity_check;
