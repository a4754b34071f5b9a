-- form: script
-- expect: none
-- player sessions, one partition = one day (PARTITION BY day)
-- always goes through the shadow table, so a repeated run just swaps the same part in again
DROP TABLE IF EXISTS games.session_day_shadow;

CREATE TABLE games.session_day_shadow AS games.session_day;

INSERT INTO games.session_day_shadow
    (day, player_id, sessions, minutes, last_level, devices)
SELECT
    event_day                                    AS day,
    player_id,
    uniqExact(session_id)                        AS sessions,
    intDiv(sum(duration_ms), 60000)              AS minutes,
    max(tuple(event_seq, level)).2               AS last_level,
    arraySort(groupUniqArray(device_kind))       AS devices
FROM games.session_event
WHERE event_day = toDate('{{ ds }}')
GROUP BY event_day, player_id;

ALTER TABLE games.session_day
    REPLACE PARTITION '{{ ds }}' FROM games.session_day_shadow;

DROP TABLE IF EXISTS games.session_day_shadow;
