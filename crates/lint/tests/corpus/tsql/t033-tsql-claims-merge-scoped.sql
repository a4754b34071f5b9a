-- form: script
-- expect: none
-- SQLCMD: $(AsOfDay) is passed by the agent job
DECLARE @Day date = CONVERT(date, '$(AsOfDay)', 23);

SET XACT_ABORT ON;

MERGE INTO rep.CostCentreDay WITH (HOLDLOCK) AS t
USING (
    SELECT  e.PostDay,
            e.CostCentre,
            SUM(e.Amount)   AS Amount,
            COUNT(*)        AS Postings
    FROM    gl.Entry AS e
    WHERE   e.PostDay = @Day
      AND   e.CostCentre IS NOT NULL
    GROUP BY e.PostDay, e.CostCentre
) AS s
   ON  t.PostDay    = s.PostDay
   AND t.CostCentre = s.CostCentre
WHEN MATCHED THEN
    UPDATE SET Amount = s.Amount, Postings = s.Postings
WHEN NOT MATCHED BY TARGET THEN
    INSERT (PostDay, CostCentre, Amount, Postings)
    VALUES (s.PostDay, s.CostCentre, s.Amount, s.Postings)
WHEN NOT MATCHED BY SOURCE AND t.PostDay = @Day THEN
    DELETE;
GO
