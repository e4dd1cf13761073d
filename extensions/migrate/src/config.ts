import { defineConfig, Type } from '@svc/api';

export const MigrateSection = defineConfig(
  'migrate',
  Type.Object(
    {
      roots: Type.Array(Type.String({ minLength: 1, maxLength: 4_096, pattern: '^(?:/|~/)' }), {
        maxItems: 50,
        default: [],
        description: 'Folders that imports may read beside the usual homes of other programs: absolute paths, or ~/ and a path',
      }),
    },
    { additionalProperties: false, default: {}, description: 'Imports from other programs' },
  ),
);
