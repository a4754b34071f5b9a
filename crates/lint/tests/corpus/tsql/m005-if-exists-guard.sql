-- form: script
-- expect: none
IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = 'IX_Order_Date')
    CREATE INDEX IX_Order_Date ON dbo.[Order] (OrderDate);
IF COL_LENGTH('dbo.[Order]', 'Channel') IS NULL
    ALTER TABLE dbo.[Order] ADD Channel varchar(20) NULL;
GO
