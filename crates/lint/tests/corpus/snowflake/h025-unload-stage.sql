-- form: script
-- expect: none
copy into @export_stage/finance/ledger_
from (select entry_no, account, amount from finance.ledger where period = :period)
file_format = (type = csv compression = gzip)
header = true
overwrite = true;
