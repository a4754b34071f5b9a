-- form: script
-- expect: none
-- mobile ad revenue: S3 csv -> temp -> replace the report day, all in one transaction
begin;

create temp table rev_in (
    report_day   date        not null,
    network      varchar(32) not null,
    placement_id varchar(64) not null,
    impressions  bigint,
    revenue      decimal(14,4)
);

copy rev_in (report_day, network, placement_id, impressions, revenue)
from 's3://ads-finance/network_reports/day={{ ds }}/manifest.json'
iam_role '{{ var.value.redshift_role }}'
manifest csv ignoreheader 1;

delete from finance.ad_revenue
where report_day = '{{ ds }}';

insert into finance.ad_revenue (report_day, network, placement_id, impressions, revenue, loaded_at)
select report_day,
       network,
       placement_id,
       sum(impressions),
       sum(revenue),
       getdate()               -- audit only
from rev_in
where report_day = '{{ ds }}'
group by report_day, network, placement_id;

commit;
