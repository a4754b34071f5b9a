-- form: script
-- expect: none
-- because: COPY goes into a freshly created temporary table from a path that holds the day; the day is then replaced in one transaction with a grouped (unique) result.
-- wms/stock_files_load.sql  (Airflow: SnowflakeOperator, one day per run)
create or replace temporary table tmp_stock_line (
    warehouse_code  varchar,
    sku             varchar,
    bin             varchar,
    on_hand         number(12,0)
);

copy into tmp_stock_line (warehouse_code, sku, bin, on_hand)
from (
    select $1, $2, $3, $4
    from @ext.wms_stage/stock/{{ ds_nodash }}/
)
file_format = (format_name = 'ext.csv_semicolon')
on_error = abort_statement;

begin;

delete from mart.stock_level
where stock_date = '{{ ds }}'::date;

insert into mart.stock_level (stock_date, warehouse_code, sku, on_hand, bins)
select
    '{{ ds }}'::date
  , warehouse_code
  , sku
  , sum(on_hand)
  , listagg(distinct bin, ',') within group (order by bin)
from tmp_stock_line
group by warehouse_code, sku;

commit;
