-- form: script
-- expect: none
UPDATE dbo.Product
SET Category = UPPER(LTRIM(RTRIM(Category))),
    Price = ISNULL(Price, 0),
    ModifiedAt = SYSUTCDATETIME()
WHERE Category IS NOT NULL;
