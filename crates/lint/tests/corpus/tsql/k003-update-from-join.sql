-- form: script
-- expect: OM209 warning `Import.Rate AS r`
UPDATE p
SET    p.DailyRate = r.DailyRate,
       p.Currency  = r.Currency
FROM   dbo.Contract AS p
INNER JOIN Import.Rate AS r ON r.ContractNo = p.ContractNo;
