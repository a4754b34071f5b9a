-- form: script
-- expect: none
copy into raw.github_events (payload, file_name, file_row)
from (
  select $1, metadata$filename, metadata$file_row_number
  from @raw.github_stage
)
pattern = '.*2024-.*[.]json[.]gz'
file_format = (type = json)
on_error = skip_file;
