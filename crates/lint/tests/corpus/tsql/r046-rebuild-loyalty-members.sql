-- form: script
-- expect: OM202 error `ROW_NUMBER() OVER (PARTITION BY m.MemberNo ORDER BY (SELECT NULL))`
-- because: a member with two cards keeps whichever row the scan meets first, so the rebuilt table differs between runs
SET XACT_ABORT ON;
BEGIN TRANSACTION;

TRUNCATE TABLE loyalty.MemberCurrent;

WITH ranked AS
(
    SELECT  m.MemberNo
           ,m.Tier
           ,m.Points
           ,m.HomeStore
           ,ROW_NUMBER() OVER (PARTITION BY m.MemberNo
                               ORDER BY (SELECT NULL)) AS rn
    FROM    src.MemberCard AS m
    WHERE   m.IsBlocked = 0
)
INSERT INTO loyalty.MemberCurrent (MemberNo, Tier, Points, HomeStore)
SELECT  MemberNo, Tier, Points, HomeStore
FROM    ranked
WHERE   rn = 1;

COMMIT TRANSACTION;
