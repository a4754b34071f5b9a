-- form: script
-- expect: OM316 error `INSERT INTO [rdv].[SatVessel]`
-- because: a vessel with two stored versions always differs from one of them, so each re-run appends its row again
-- Raw vault: satellite for vessel master data. @LoadDate is the batch date
DECLARE @RecordSource varchar(40) = 'AIS.MASTER';

INSERT INTO [rdv].[SatVessel]
       ([VesselHashKey], [LoadDate], [RecordSource], [VesselName], [FlagState], [DeadweightT], [HashDiff])
SELECT  DISTINCT
        stg.[VesselHashKey],
        @LoadDate,
        @RecordSource,
        stg.[VesselName],
        stg.[FlagState],
        stg.[DeadweightT],
        stg.[HashDiff]
FROM    [stg].[Vessel] AS stg
LEFT OUTER JOIN [rdv].[SatVessel] AS sat
        ON sat.[VesselHashKey] = stg.[VesselHashKey]
WHERE   sat.[VesselHashKey] IS NULL
   OR   sat.[HashDiff] <> stg.[HashDiff];
