-- form: script
-- expect: OM308 warning `d.region_cd = q.region_cd`
-- expect: OM106 warning `dwh.seq_d_site.NEXTVAL`
-- because: region comes from an outer join and is NULL abroad, those sites never match and are inserted anew each night. the surrogate key depends on the load order.
-- D_SITE: sites of customers incl. sales region (region only known for DACH)
MERGE INTO dwh.d_site d
USING (
    SELECT s.customer_no,
           s.site_no,
           r.region_cd,
           MAX(s.site_name)  AS site_name,
           MAX(s.zip_cd)     AS zip_cd
      FROM stg.crm_site s
      LEFT JOIN stg.sales_region r
        ON r.zip_prefix = SUBSTR(s.zip_cd, 1, 2)
     WHERE s.customer_no IS NOT NULL
       AND s.site_no IS NOT NULL
     GROUP BY s.customer_no, s.site_no, r.region_cd
) q
ON (    d.customer_no = q.customer_no
    AND d.site_no     = q.site_no
    AND d.region_cd   = q.region_cd )
WHEN MATCHED THEN UPDATE
   SET d.site_name = q.site_name,
       d.zip_cd    = q.zip_cd
WHEN NOT MATCHED THEN INSERT
   (site_key, customer_no, site_no, region_cd, site_name, zip_cd)
   VALUES (dwh.seq_d_site.NEXTVAL, q.customer_no, q.site_no, q.region_cd, q.site_name, q.zip_cd);

COMMIT;
