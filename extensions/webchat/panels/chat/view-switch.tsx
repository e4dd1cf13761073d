/** One of a few ways to see the same thing. */

export const ViewSwitch = <Id extends string>({ label, views, chosen, onChoose }: { label: string; views: ReadonlyArray<readonly [id: Id, name: string]>; chosen: Id; onChoose: (id: Id) => void }) => (
  <div class="view-switch" role="group" aria-label={label}>
    {views.map(([id, name]) => (
      <button key={id} type="button" aria-pressed={id === chosen} onClick={() => onChoose(id)}>
        {name}
      </button>
    ))}
  </div>
);
