-- form: script
-- expect: none
merge `crypto-etl.ethereum.traces` dest
using (
    select transaction_hash, trace_address, value, block_timestamp
    from `crypto-etl.ethereum_raw.traces`
    where date(block_timestamp) = '{{ds}}'
) source
on false
when not matched and date(source.block_timestamp) = '{{ds}}' then
insert (transaction_hash, trace_address, value, block_timestamp)
values (transaction_hash, trace_address, value, block_timestamp)
when not matched by source and date(dest.block_timestamp) = '{{ds}}' then
delete;
