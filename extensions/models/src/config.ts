/** Where newer catalogs come from, and how they prove who wrote them. */
import { type Plain, Type, defineConfig } from '@svc/api';

/** An http or https URL without user name or fragment; empty where there is none. */
const URL_PATTERN = '^(https?://[^\\s@#/][^\\s@#]*)?$';

const ModelsConfig = Type.Object(
  {
    catalog_url: Type.String({
      default: '',
      pattern: URL_PATTERN,
      maxLength: 2_000,
      description: 'Where newer catalogs are fetched from, as JSON. Empty, the default: nowhere, and the catalog of this build stands. Plain http needs `catalog_public_key`',
    }),
    catalog_public_key: Type.String({
      default: '',
      pattern: '^([A-Za-z0-9+/]{43}=)?$',
      description: 'The Ed25519 key that catalogs must be signed with: 32 bytes in base64. Empty: no signature is asked for',
    }),
    catalog_signature_url: Type.String({
      default: '',
      pattern: URL_PATTERN,
      maxLength: 2_000,
      description: 'Where the detached signature is: 64 bytes, as they are or in base64. Empty: `catalog_url` with `.sig` behind its path',
    }),
    catalog_sha256_url: Type.String({
      default: '',
      pattern: URL_PATTERN,
      maxLength: 2_000,
      description: 'Where the SHA-256 of the catalog is, as `sha256sum` writes it. Empty: none is asked for',
    }),
  },
  { additionalProperties: false },
);
export type ModelsConfig = Plain<typeof ModelsConfig>;

export const ModelsSection = defineConfig('models', ModelsConfig);
