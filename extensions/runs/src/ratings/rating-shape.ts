/** A rating as answers have it. */
import { Nullable, OneOf, type Plain, Type } from '@svc/api';

const RatingShape = Type.Object({ value: OneOf(['up', 'down']), comment: Nullable(Type.String()) });
export type Rating = Plain<typeof RatingShape>;

export const RunRating = Nullable(RatingShape, { description: 'Your rating of the answer; null if you gave none' });
