-- form: script
-- expect: none
DROP TABLE IF EXISTS #latest;
SELECT x.AccountNo, x.Balance, x.BookedAt
INTO #latest
FROM (
    SELECT AccountNo, Balance, BookedAt,
           ROW_NUMBER() OVER (PARTITION BY AccountNo ORDER BY BookedAt DESC, EntryId DESC) AS rn
    FROM core.Entry
) AS x
WHERE x.rn = 1;

MERGE rpt.AccountBalance AS t
USING #latest AS s ON t.AccountNo = s.AccountNo
WHEN MATCHED THEN UPDATE SET t.Balance = s.Balance, t.BookedAt = s.BookedAt
WHEN NOT MATCHED THEN INSERT (AccountNo, Balance, BookedAt) VALUES (s.AccountNo, s.Balance, s.BookedAt);
