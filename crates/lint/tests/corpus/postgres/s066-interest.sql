-- form: script
-- expect: OM309 error `balance = round(balance * 1.02, 2)`
UPDATE bank.account SET balance = round(balance * 1.02, 2) WHERE kind = 'savings';
