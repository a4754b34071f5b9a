-- form: script
-- expect: none
DECLARE @m int = 0;
WHILE @m < 12
BEGIN
	SET @m = @m + 1;

	UPDATE dbo.CalendarMonth
	SET Label = CONCAT('M', MonthNo)
	WHERE MonthNo = @m;
END;
