/** @svc/kit/collection: forms from JSON Schemas, and collections with their table, forms and pages. Loaded with the first panel that uses it. */
export type { CollectionView, FieldWords, ViewColumn, ViewFilter, ViewSchema, ViewWords } from '@svc/api/collection-view';
export { CollectionPanel, CollectionSection, panelOf } from './collection-panel.js';
export type { CollectionSlots } from './collection-table.js';
export type { Item } from './list-page.js';
export { isSame, kindOf, type Schema, titled } from './schema.js';
export { SchemaField, type SchemaFieldProps } from './schema-field.js';
export { type FieldSlotProps, SchemaFields, SchemaForm, SchemaFormDialog, type SchemaFormSpec, useSchemaForm } from './schema-form.js';
export { type Read, readTyped, type Typed, typedOf } from './typed.js';
