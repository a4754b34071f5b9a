-- form: script
-- expect: OM301 error `INSERT INTO dw.bridge_author`
-- because: two of the three are replaced, the bridge is only added to
BEGIN;
DELETE FROM dw.fact_loan WHERE loan_day = :day;
INSERT INTO dw.fact_loan (loan_day, book_id, member_id)
SELECT loan_day, book_id, member_id FROM ods.loan WHERE loan_day = :day;

DELETE FROM dw.fact_return WHERE return_day = :day;
INSERT INTO dw.fact_return (return_day, book_id, member_id)
SELECT return_day, book_id, member_id FROM ods.return WHERE return_day = :day;

INSERT INTO dw.bridge_author (book_id, author_id, weight)
SELECT ba.book_id, ba.author_id, 1.0 / count(*) OVER (PARTITION BY ba.book_id)
FROM ods.book_author ba
WHERE ba.added_on = :day;
COMMIT;
