-- form: script
-- expect: OM202 error `row_number() over(partition by PLANT_ID order by PLANT_ID)`
merge into {{ params.db }}.{{ params.schema }}.PLANT_SNAP as TGT
using (
  select * from (
    select PLANT_ID, PLANT_NAME, COUNTRY,
           row_number() over(partition by PLANT_ID order by PLANT_ID) as R
    from {{ params.db }}.{{ params.schema }}.PLANT_HIST_STREAM
  ) where R = 1
) as SRC
on SRC.PLANT_ID = TGT.PLANT_ID
when matched then update set PLANT_NAME = SRC.PLANT_NAME, COUNTRY = SRC.COUNTRY
when not matched then insert (PLANT_ID, PLANT_NAME, COUNTRY)
values (SRC.PLANT_ID, SRC.PLANT_NAME, SRC.COUNTRY);
