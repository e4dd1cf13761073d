/** The week of the page, on the clock of the reader. */
import { expect } from 'chai';
import { timesFrom, weekOf } from '../panels/schedules/week-days.js';

describe('the week of fires', () => {
  const now = new Date(2027, 2, 10, 15, 30).getTime();
  const at = (day: number, hour: number): string => new Date(2027, 2, day, hour).toISOString();
  const moment = (day: number, hour: number, state = 'ok') => ({ at: at(day, hour), job: 'j', name: 'job', state });

  it('has seven days around today, each with its fires in order', () => {
    const week = weekOf([moment(10, 18, 'due'), moment(10, 9), moment(7, 23), moment(13, 1, 'due'), moment(6, 12), moment(14, 12, 'due')], now);
    expect(week.map((day) => new Date(day.at).getDate())).to.deep.equal([7, 8, 9, 10, 11, 12, 13]);
    expect(week.map(({ moments }) => moments.map(({ at: text }) => new Date(text).getHours()))).to.deep.equal([[23], [], [], [9, 18], [], [], [1]]);
  });

  it('repeats an interval until the week is over, and a date once', () => {
    expect(timesFrom(at(10, 18), 86_400, now).length).to.equal(4);
    expect(timesFrom(at(10, 18), undefined, now)).to.deep.equal([at(10, 18)]);
    expect(timesFrom(null, 60, now)).to.deep.equal([]);
  });
});
