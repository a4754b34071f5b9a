-- form: script
-- expect: OM209 warning `import.contact_sheet AS i`
-- because: nothing says that an e-mail address stands once in the import
UPDATE crm.contact AS c
SET phone = i.phone,
    company = i.company
FROM import.contact_sheet AS i
WHERE lower(i.email) = lower(c.email);
