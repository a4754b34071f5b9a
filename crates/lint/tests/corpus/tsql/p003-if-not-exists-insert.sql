-- form: script
-- expect: none
IF NOT EXISTS (SELECT 1 FROM ref.Currency WHERE Code = 'XDR')
    INSERT INTO ref.Currency (Code, Name) VALUES ('XDR', 'Special drawing rights');
