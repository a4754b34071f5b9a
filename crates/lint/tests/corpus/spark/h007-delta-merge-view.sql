-- form: script
-- expect: OM307 warning `USING updates_raw…`
-- Databricks notebook source
MERGE INTO main.silver.customers AS target
USING updates_raw AS source
ON target.customer_id = source.customer_id
WHEN MATCHED THEN UPDATE SET *
WHEN NOT MATCHED THEN INSERT *;
