-- form: script
-- expect: none
-- because: the copy is made beside and swapped by name in one transaction
BEGIN;
DROP TABLE IF EXISTS ods.click_new;
CREATE TABLE ods.click_new (LIKE ods.click);
INSERT INTO ods.click_new
SELECT * FROM ods.click;
ALTER TABLE ods.click RENAME TO click_old;
ALTER TABLE ods.click_new RENAME TO click;
DROP TABLE ods.click_old;
COMMIT;
