-- form: script
-- expect: OM202 error `ROW_NUMBER() OVER (PARTITION BY Email ORDER BY (SELECT 0))`
SET XACT_ABORT ON;
BEGIN TRAN;
DELETE FROM mkt.Audience;
WITH d AS (
	SELECT Email, FirstName, Country,
		rn = ROW_NUMBER() OVER (PARTITION BY Email ORDER BY (SELECT 0))
	FROM mkt.SignupRaw
)
INSERT INTO mkt.Audience (Email, FirstName, Country)
SELECT Email, FirstName, Country FROM d WHERE rn = 1;
COMMIT TRAN;
