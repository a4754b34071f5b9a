-- form: script
-- expect: OM101 error `CURDATE()`
-- expect: OM321 warning `ON DUPLICATE KEY UPDATE rate_cents = VALUES(rate_cents)`
-- because: reloading a feed later leaves out the nights that have passed in the meantime currency, min_stay and closed_to_arrival are inserted but never updated, so corrected values do not land
/* channel manager feed -> rate table
   PK (hotel_id, room_type, stay_date)  */
INSERT INTO pms.room_rate
        (hotel_id, room_type, stay_date, rate_cents, currency, min_stay, closed_to_arrival)
SELECT  f.hotel_id,
        f.room_type,
        f.stay_date,
        MAX(f.rate_cents),
        MAX(f.currency),
        MAX(f.min_stay),
        MAX(f.cta)
FROM    pms.channel_feed f
WHERE   f.feed_id = ?
  AND   f.stay_date >= CURDATE()          -- no past nights
GROUP BY f.hotel_id, f.room_type, f.stay_date
ON DUPLICATE KEY UPDATE
        rate_cents = VALUES(rate_cents);
