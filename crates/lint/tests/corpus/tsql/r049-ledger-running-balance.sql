-- form: script
-- expect: OM407 error `SUM(e.Amount) OVER (PARTITION BY e.AccountNo ORDER BY e.PostedAt, e.EntryId ROWS …`
-- because: the running balance starts from zero at the first of the month, so its value depends on whether one month or one year is loaded per run
SET XACT_ABORT ON;

BEGIN TRANSACTION;

DELETE FROM fin.LedgerBalance
WHERE  PostedAt >= @MonthStart
  AND  PostedAt <  @MonthEnd;

INSERT INTO fin.LedgerBalance (EntryId, AccountNo, PostedAt, Amount, BalanceAfter)
SELECT  e.EntryId,                 -- primary key of the journal
        e.AccountNo,
        e.PostedAt,
        e.Amount,
        SUM(e.Amount) OVER (PARTITION BY e.AccountNo
                            ORDER BY e.PostedAt, e.EntryId
                            ROWS UNBOUNDED PRECEDING)
FROM    fin.JournalEntry AS e
WHERE   e.PostedAt >= @MonthStart
  AND   e.PostedAt <  @MonthEnd
  AND   e.IsReversed = 0;

COMMIT TRANSACTION;
