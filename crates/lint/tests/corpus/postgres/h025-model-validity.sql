-- form: model
-- expect: none
/* oncemore
kind: slice
interval: day
time: sold_at
key: [sale_id]
*/
SELECT s.sale_id, s.sold_at, s.article, p.price
FROM raw.sale AS s
JOIN ref.price AS p
  ON p.article = s.article AND s.sold_at >= p.valid_from AND s.sold_at < p.valid_to
WHERE s.sold_at >= :interval_start AND s.sold_at < :interval_end
