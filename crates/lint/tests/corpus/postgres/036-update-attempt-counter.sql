-- form: script
-- expect: OM309 error `attempts = attempts + 1`
UPDATE queue.delivery
SET attempts = attempts + 1,
    state = 'retry'
WHERE state = 'failed' AND batch_no = $1;
