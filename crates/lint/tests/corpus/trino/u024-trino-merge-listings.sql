-- form: script
-- expect: none
-- listings_current: newest version of each listing, all history is read (about 3M rows)
MERGE INTO iceberg.market.listings_current AS t
USING (
    SELECT
        listing_id,
        max_by(title, ROW(version_no, scraped_file))      AS title,
        max_by(price_cents, ROW(version_no, scraped_file)) AS price_cents,
        max(version_no)                                   AS version_no,
        min(listed_on)                                    AS listed_on,
        approx_distinct(viewer_hash)                      AS viewers
    FROM iceberg.market.listing_versions   -- primary key (listing_id, version_no)
    WHERE listing_id IS NOT NULL
    GROUP BY listing_id
) AS s
ON t.listing_id = s.listing_id
WHEN MATCHED THEN UPDATE SET
    title = s.title, price_cents = s.price_cents, version_no = s.version_no,
    listed_on = s.listed_on, viewers = s.viewers
WHEN NOT MATCHED THEN INSERT (listing_id, title, price_cents, version_no, listed_on, viewers)
    VALUES (s.listing_id, s.title, s.price_cents, s.version_no, s.listed_on, s.viewers);
