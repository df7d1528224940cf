// Shows the served document; the Authorize button runs the authorization-code flow with PKCE as a public client.

// The session's cookie is sent by the browser itself, and no page can set it. So it is not offered beside what can be typed here.
const withoutSession = (document) => {
  delete document.components.securitySchemes.session;
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    operation.security = operation.security?.filter((scheme) => !('session' in scheme));
  }
  return document;
};

// Leaves the operations whose tag, path, id or summary contains the phrase. Swagger UI's own filter knows tags only, letter by letter.
const matching = (tags, phrase) => {
  const has = (text) => text?.toLowerCase().includes(phrase.trim().toLowerCase());
  const isMeant = (one) => [one.get('path'), one.getIn(['operation', 'operationId']), one.getIn(['operation', 'summary'])].some(has);
  const left = tags.map((tag, name) => (has(name) ? tag : tag.update('operations', (all) => all.filter(isMeant))));
  return left.filter((tag) => tag.get('operations').size > 0);
};

const own = ({ React }) => ({
  fn: { opsFilter: matching },
  statePlugins: {
    spec: { wrapActions: { updateJsonSpec: (update) => (document) => update(withoutSession(document)) } },
  },
  components: {
    FilterContainer: ({ layoutActions, layoutSelectors }) => {
      const phrase = layoutSelectors.currentFilter();
      const field = {
        type: 'search',
        className: 'operation-filter-input',
        placeholder: 'Filter operations',
        'aria-label': 'Filter operations',
        value: typeof phrase === 'string' ? phrase : '',
        onChange: ({ target }) => layoutActions.updateFilter(target.value),
      };
      return React.createElement('div', { className: 'filter wrapper' }, React.createElement('input', field));
    },
  },
  wrapComponents: {
    // The focus would scroll the dialog past OAuth, its first section.
    Input: (Original) => ({ autoFocus, ...others }) => React.createElement(Original, others),
  },
});

const ui = SwaggerUIBundle({
  dom_id: '#ui',
  url: '/openapi.json',
  deepLinking: true,
  filter: true,
  plugins: [own],
  validatorUrl: null,
  oauth2RedirectUrl: `${window.location.origin}/docs/oauth2-redirect.html`,
});
ui.initOAuth({
  clientId: '{client}',
  scopes: 'openid profile email search:read records:write account',
  usePkceWithAuthorizationCodeGrant: true,
});

// Swagger UI leaves the lists of values without names.
const nameLists = () => {
  for (const list of document.querySelectorAll('#ui select:not([aria-label], [id])')) {
    list.setAttribute('aria-label', list.closest('[data-param-name]')?.dataset.paramName ?? 'Example');
  }
};
new MutationObserver(nameLists).observe(document.getElementById('ui'), { childList: true, subtree: true });
