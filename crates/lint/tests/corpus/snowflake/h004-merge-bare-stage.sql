-- form: script
-- expect: OM307 warning `using "STG"."CUSTOMER_DELTA"…`
merge into "EDW"."CUSTOMER" tgt
using "STG"."CUSTOMER_DELTA" src
  on tgt."CUST_NO" = src."CUST_NO"
when matched then update set
    tgt."NAME" = src."NAME",
    tgt."EMAIL" = src."EMAIL"
when not matched then insert ("CUST_NO", "NAME", "EMAIL")
    values (src."CUST_NO", src."NAME", src."EMAIL");
