-- form: script
-- expect: OM301 error `INSERT INTO songplays`
INSERT INTO songplays (start_time, user_id, level, song_id, artist_id, session_id, location)
SELECT TIMESTAMP 'epoch' + se.ts / 1000 * INTERVAL '1 second',
       se.userid, se.level, ss.song_id, ss.artist_id, se.sessionid, se.location
FROM staging_events se
LEFT JOIN staging_songs ss
       ON se.song = ss.title
      AND se.artist = ss.artist_name
WHERE se.page = 'NextSong';
