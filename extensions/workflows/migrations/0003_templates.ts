import { createTables } from '@svc/api';
import { TemplateRows } from '../src/contract.js';

export const templateTable = createTables('0003_templates', [TemplateRows]);
