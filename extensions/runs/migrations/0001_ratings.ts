import { createTables } from '@svc/api';
import { RatingRows } from '../src/ratings/rating-rows.js';

export const ratings = createTables('0001_ratings', [RatingRows]);
