-- form: script
-- expect: none
IF NOT EXISTS (SELECT 1 FROM sys.tables WHERE name = 'RateCard' AND schema_id = SCHEMA_ID('ref'))
BEGIN
    CREATE TABLE ref.RateCard (
        RateCode varchar(10) NOT NULL PRIMARY KEY,
        Rate decimal(9, 4) NOT NULL,
        CreatedAt datetime2 NOT NULL DEFAULT SYSUTCDATETIME()
    );
END;
IF COL_LENGTH('ref.RateCard', 'Currency') IS NULL
    ALTER TABLE ref.RateCard ADD Currency char(3) NULL;
