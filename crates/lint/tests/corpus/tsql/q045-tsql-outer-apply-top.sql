-- form: script
-- expect: OM105 error `NEWID()`
-- expect: OM206 warning `ORDER BY l.ValidFrom DESC`
-- because: Each run of the same day gives every quote line a new key, so whatever stored the old key points at nothing. Two price lists valid from the same day tie, and TOP (1) takes either price.
DECLARE @RunDate date = '$(RunDate)';
SET XACT_ABORT ON;

BEGIN TRANSACTION;

DELETE FROM rpt.QuoteLine
WHERE QuoteDate = @RunDate;

INSERT INTO rpt.QuoteLine
    (QuoteLineKey, QuoteDate, QuoteNo, ProductCode, Qty, UnitPrice, PriceSource)
SELECT NEWID(),
       q.QuoteDate,
       q.QuoteNo,
       q.ProductCode,
       q.Qty,
       p.UnitPrice,
       p.PriceSource
FROM stg.Quote AS q
OUTER APPLY (
    -- several price lists can be valid from the same day
    SELECT TOP (1) l.UnitPrice, l.PriceSource
    FROM stg.PriceList AS l
    WHERE l.ProductCode = q.ProductCode
      AND l.ValidFrom <= q.QuoteDate
    ORDER BY l.ValidFrom DESC
) AS p
WHERE q.QuoteDate = @RunDate;

COMMIT TRANSACTION;
