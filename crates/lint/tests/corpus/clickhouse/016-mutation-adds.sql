-- form: script
-- expect: OM309 error `balance = balance + bonus`
ALTER TABLE game.player UPDATE balance = balance + bonus WHERE last_seen_day = {day:Date};
