-- form: script
-- expect: none
-- because: Temp stage per session, COPY from the day's own prefix into it, then the same day is deleted and inserted inside one transaction; the stage has no leftovers because it is created in the transaction.
-- runs through Redshift Data API, one statement batch per {{ ds }}
begin transaction;

create temp table pos_stage (
    store_no     integer,
    receipt_no   bigint,
    line_no      smallint,
    article_no   varchar(18),
    qty          numeric(9,3),
    gross        numeric(12,2),
    business_day date
);

copy pos_stage (store_no, receipt_no, line_no, article_no, qty, gross, business_day)
from 's3://acme-pos-landing/sales/business_day={{ ds }}/'
iam_role 'arn:aws:iam::111122223333:role/redshift-copy'
format as csv gzip ignoreheader 1 timeformat 'auto';

delete from sales.receipt_line
where business_day = '{{ ds }}'::date;

insert into sales.receipt_line
    (business_day, store_no, receipt_no, line_no, article_no, qty, gross)
select
    business_day, store_no, receipt_no, line_no,
    max(article_no), max(qty), max(gross)
from pos_stage
where business_day = '{{ ds }}'::date
group by business_day, store_no, receipt_no, line_no;

drop table pos_stage;

end transaction;
