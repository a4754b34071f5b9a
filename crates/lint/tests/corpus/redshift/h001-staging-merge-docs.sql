-- form: script
-- expect: none
-- classic upsert, see the AWS manual
create temp table stage_listing (like public.listing);

copy stage_listing
from 's3://tickit-{{ var.value.env }}/listing/{{ ds_nodash }}/'
iam_role 'arn:aws:iam::111122223333:role/loader'
delimiter '|' gzip;

begin transaction;

delete from public.listing
using stage_listing
where listing.listid = stage_listing.listid;

insert into public.listing
select * from stage_listing;

end transaction;

drop table stage_listing;
