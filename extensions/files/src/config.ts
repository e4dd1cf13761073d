import { type Plain, Type, defineConfig } from '@svc/api';

/** No upload may be larger, whatever config.toml says. */
export const LARGEST_UPLOAD_BYTES = 1_073_741_824;

const MaxUpload = Type.Integer({ default: 10_485_760, minimum: 1_024, maximum: LARGEST_UPLOAD_BYTES, description: 'Maximum size of an upload' });

const UploadsConfig = Type.Object(
  {
    max_owner_bytes: Type.Integer({
      default: 5_368_709_120,
      minimum: 1_024,
      maximum: 1_099_511_627_776_000,
      description: "Total size of one owner's uploads; each counts its bytes plus 4 KiB",
    }),
  },
  { additionalProperties: false, default: {} },
);
export type UploadsConfig = Plain<typeof UploadsConfig>;

export const MaxUploadSetting = defineConfig('/max_upload_size_bytes', MaxUpload);
export const UploadsSection = defineConfig('uploads', UploadsConfig);
