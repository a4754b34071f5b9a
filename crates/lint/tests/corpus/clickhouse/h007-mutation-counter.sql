-- form: script
-- expect: OM309 error `balance = balance + 10`
ALTER TABLE game.wallet
    UPDATE balance = balance + 10
    WHERE joined_on = {day:Date}
    SETTINGS mutations_sync = 2;
