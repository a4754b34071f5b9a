-- form: script
-- expect: none
UPDATE coupon
SET state = 'expired', discount = LEAST(discount, 0), code = UPPER(code)
WHERE valid_until < @as_of AND state = 'active';
