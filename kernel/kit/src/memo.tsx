/** A component that is drawn anew only when one of its properties is another one. */
import { Component, type ComponentChildren, type ComponentType } from 'preact';

export const memo = <P extends object>(View: ComponentType<P>): ComponentType<P> =>
  class extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const before = new Map(Object.entries(this.props));
      const now = Object.entries(next);
      return now.length !== before.size || now.some(([name, value]) => before.get(name) !== value);
    }

    override render(): ComponentChildren {
      return <View {...this.props} />;
    }
  };
