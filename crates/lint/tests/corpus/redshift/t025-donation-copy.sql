-- form: script
-- expect: OM313 error `copy giving.donation_raw`
-- because: COPY appends; a retry of the task loads the same files a second time
-- S3 -> redshift, donations of the day
\set ON_ERROR_STOP on

copy giving.donation_raw
    (donation_id, donor_id, campaign, amount_cents, currency, donated_at, channel)
from 's3://ngo-lake/donations/dt={{ ds }}/'
iam_role 'arn:aws:iam::000000000000:role/redshift-loader'
format as json 's3://ngo-lake/_jsonpaths/donation.json'
timeformat 'epochmillisecs'
gzip
maxerror 0
region 'eu-west-1';

-- donors first gift flag, recomputed in full
update giving.donor
set    first_gift_on = f.first_on
from (
    select donor_id, min(donated_at::date) as first_on
    from   giving.donation_raw
    group  by donor_id
) f
where f.donor_id = donor.donor_id;
