-- form: script
-- expect: OM105 error `NEWID()`
BEGIN TRY
    BEGIN TRAN;
    DELETE FROM outbox.Letter WHERE LetterDate = @day;
    INSERT INTO outbox.Letter (LetterId, LetterDate, CustomerId, Template)
    SELECT NEWID(), @day, c.CustomerId, 'reminder'
    FROM ods.Reminder AS c
    WHERE c.DueDate = @day;
    COMMIT TRAN;
END TRY
BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK TRAN;
    THROW;
END CATCH;
