-- form: script
-- expect: none
insert into dim_course (course_code, title, credits, updated_at)
select c.code, max(c.title), max(c.credits), now()
from src_course c
group by c.code
on duplicate key update
    title = values(title),
    credits = values(credits),
    updated_at = values(updated_at);
