/** What people made: other names of models, models that the catalog does not know. And the catalog itself. */
import { CatalogSection } from './catalog-section.js';
import { Names } from './names.js';
import { OwnModels } from './own-models.js';

export const Own = () => (
  <div class="stack models-sections">
    <Names />
    <OwnModels />
    <CatalogSection />
  </div>
);
