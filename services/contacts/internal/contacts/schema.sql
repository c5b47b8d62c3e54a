-- What all migrations make, without the tables of libs/db/schema.sql that every service has.
-- UPDATE_SCHEMA=1 make units PACKAGES=./libs/db RUN=TestTheWrittenSchemas writes this file; nothing runs it.

CREATE TABLE activity (
	id uuid NOT NULL,
	contact_id uuid,
	organization_id uuid,
	type text NOT NULL,
	subject text DEFAULT '' NOT NULL,
	body text DEFAULT '' NOT NULL,
	data jsonb DEFAULT '{}'::jsonb NOT NULL,
	channel text NOT NULL,
	actor_label text DEFAULT '' NOT NULL,
	user_id bigint,
	ref uuid,
	created_at timestamp with time zone NOT NULL,
	pinned boolean DEFAULT false NOT NULL,
	edited_at timestamp with time zone,
	version bigint DEFAULT 1 NOT NULL,
	CONSTRAINT activity_pkey PRIMARY KEY (id)
);
CREATE INDEX activity_contact ON activity (contact_id, created_at DESC, id DESC) WHERE (contact_id IS NOT NULL);
CREATE INDEX activity_order ON activity (created_at DESC, id DESC) WHERE (contact_id IS NOT NULL);
CREATE INDEX activity_organization ON activity (organization_id, created_at DESC, id DESC) WHERE (organization_id IS NOT NULL);
CREATE INDEX activity_pinned_contact ON activity (contact_id) WHERE (pinned AND (contact_id IS NOT NULL));
CREATE INDEX activity_pinned_organization ON activity (organization_id) WHERE (pinned AND (organization_id IS NOT NULL));
CREATE INDEX activity_ref ON activity (ref) WHERE (ref IS NOT NULL);
CREATE INDEX activity_visitor ON activity (lower(actor_label)) WHERE ((organization_id IS NOT NULL) AND (user_id IS NULL) AND (actor_label <> ''));

CREATE TABLE answered (
	origin text NOT NULL,
	origin_id text NOT NULL,
	contact_id uuid,
	result text NOT NULL,
	answered_at timestamp with time zone NOT NULL,
	CONSTRAINT answered_pkey PRIMARY KEY (origin, origin_id)
);
CREATE INDEX answered_age ON answered (answered_at);
CREATE INDEX answered_contact ON answered (contact_id);

CREATE TABLE appointment (
	id uuid NOT NULL,
	version bigint NOT NULL,
	contact_id uuid,
	status text NOT NULL,
	service_id uuid,
	service_name text DEFAULT '' NOT NULL,
	staff_id bigint,
	staff_name text DEFAULT '' NOT NULL,
	starts_at timestamp with time zone NOT NULL,
	ends_at timestamp with time zone NOT NULL,
	people bytea[] DEFAULT '{}'::bytea[] NOT NULL,
	booked_for text DEFAULT '' NOT NULL,
	arrived_at timestamp with time zone,
	made_by bigint,
	requested boolean DEFAULT false NOT NULL,
	CONSTRAINT appointment_pkey PRIMARY KEY (id)
);
CREATE INDEX appointment_arrived ON appointment (arrived_at) WHERE (arrived_at IS NOT NULL);
CREATE INDEX appointment_contact ON appointment (contact_id, starts_at) WHERE (status <> ALL (ARRAY['cancelled', 'declined']));
CREATE INDEX appointment_people ON appointment USING gin (people);
CREATE INDEX appointment_requests ON appointment (starts_at) WHERE (status = 'pending');
CREATE INDEX appointment_time ON appointment (starts_at);
CREATE TRIGGER contact_booked_for_delete AFTER DELETE ON appointment FOR EACH ROW WHEN ((old.booked_for <> '')) EXECUTE FUNCTION contact_booked_for();
CREATE TRIGGER contact_booked_for_insert AFTER INSERT ON appointment FOR EACH ROW WHEN ((new.booked_for <> '')) EXECUTE FUNCTION contact_booked_for();
CREATE TRIGGER contact_booked_for_update AFTER UPDATE OF booked_for, contact_id ON appointment FOR EACH ROW WHEN (((old.booked_for <> '') OR (new.booked_for <> ''))) EXECUTE FUNCTION contact_booked_for();

CREATE TABLE consent (
	id uuid NOT NULL,
	contact_id uuid NOT NULL,
	purpose text NOT NULL,
	text text NOT NULL,
	verified boolean NOT NULL,
	created_at timestamp with time zone NOT NULL,
	CONSTRAINT consent_pkey PRIMARY KEY (id),
	CONSTRAINT consent_contact_id_fkey FOREIGN KEY (contact_id) REFERENCES contact(id) ON DELETE CASCADE
);
CREATE INDEX consent_contact ON consent (contact_id, created_at, id);

CREATE TABLE contact (
	id uuid NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	first_name text DEFAULT '' NOT NULL,
	last_name text DEFAULT '' NOT NULL,
	email text DEFAULT '' NOT NULL,
	email_key text DEFAULT '' NOT NULL,
	phone text DEFAULT '' NOT NULL,
	status text DEFAULT 'lead' NOT NULL,
	marketing text DEFAULT 'none' NOT NULL,
	marketing_updated_at timestamp with time zone,
	source text DEFAULT '' NOT NULL,
	owner_user_id bigint,
	tags text[] DEFAULT '{}'[] NOT NULL,
	fields jsonb DEFAULT '{}'::jsonb NOT NULL,
	search text GENERATED ALWAYS AS (fold(((((((((first_name || ' ') || last_name) || ' ') || email) || ' ') || phone) || ' ') || regexp_replace(phone, '[^0-9]', '', 'g')))) STORED NOT NULL,
	last_activity timestamp with time zone,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	deleted_at timestamp with time zone,
	changed xid8 DEFAULT pg_current_xact_id() NOT NULL,
	booked_for text DEFAULT '' NOT NULL,
	CONSTRAINT contact_pkey PRIMARY KEY (id),
	CONSTRAINT contact_marketing_check CHECK ((marketing = ANY (ARRAY['none', 'pending', 'subscribed', 'unsubscribed']))),
	CONSTRAINT contact_status_check CHECK ((status = ANY (ARRAY['lead', 'customer', 'inactive'])))
) WITH (fillfactor=85);
CREATE INDEX contact_active ON contact (COALESCE(last_activity, '0001-01-01 00:00:00+00'::timestamp with time zone) DESC, id DESC);
CREATE INDEX contact_booked_for ON contact (id) WHERE (booked_for <> '');
CREATE INDEX contact_changed ON contact (changed);
CREATE UNIQUE INDEX contact_email ON contact (email_key) WHERE ((deleted_at IS NULL) AND (email_key <> ''));
CREATE INDEX contact_email_trash ON contact (email_key) WHERE ((deleted_at IS NOT NULL) AND (email_key <> ''));
CREATE INDEX contact_name ON contact ("left"(fold(COALESCE(NULLIF(btrim(((first_name || ' ') || last_name)), ''), NULLIF(email, ''), phone)), 200) COLLATE "C", id);
CREATE INDEX contact_order ON contact (created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX contact_order_all ON contact (created_at DESC, id DESC);
CREATE INDEX contact_owner ON contact (owner_user_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX contact_source ON contact (source) WHERE ((deleted_at IS NULL) AND (source <> ''));
CREATE INDEX contact_tags ON contact USING gin (tags);
CREATE INDEX contact_trash ON contact (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX contact_updated ON contact (updated_at);
CREATE TRIGGER contact_changes BEFORE UPDATE OF first_name, last_name, email, phone, status, marketing, source, owner_user_id, tags, created_at, deleted_at, booked_for ON contact FOR EACH ROW EXECUTE FUNCTION contact_changes();
CREATE TRIGGER contact_stamp BEFORE INSERT OR UPDATE OF updated_at ON contact FOR EACH ROW EXECUTE FUNCTION stamp_updated_at();
CREATE TRIGGER contacts_go AFTER DELETE ON contact REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION contacts_go();

CREATE TABLE contact_alias (
	id uuid NOT NULL,
	target uuid,
	created_at timestamp with time zone NOT NULL,
	lingers boolean DEFAULT false NOT NULL,
	merged boolean DEFAULT false NOT NULL,
	CONSTRAINT contact_alias_pkey PRIMARY KEY (id)
);
CREATE INDEX contact_alias_lingering ON contact_alias (created_at) WHERE lingers;
CREATE INDEX contact_alias_target ON contact_alias (target);

CREATE TABLE contact_gone (
	id uuid NOT NULL,
	created_at timestamp with time zone NOT NULL,
	changed xid8 DEFAULT pg_current_xact_id() NOT NULL,
	gone_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE INDEX contact_gone_at ON contact_gone (gone_at);
CREATE INDEX contact_gone_changed ON contact_gone (changed);

CREATE TABLE contact_organization (
	contact_id uuid NOT NULL,
	organization_id uuid NOT NULL,
	role text DEFAULT '' NOT NULL,
	is_primary boolean DEFAULT false NOT NULL,
	created_at timestamp with time zone NOT NULL,
	CONSTRAINT contact_organization_pkey PRIMARY KEY (contact_id, organization_id),
	CONSTRAINT contact_organization_contact_id_fkey FOREIGN KEY (contact_id) REFERENCES contact(id) ON DELETE CASCADE,
	CONSTRAINT contact_organization_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE
);
CREATE INDEX contact_organization_people ON contact_organization (organization_id, created_at, contact_id);
CREATE UNIQUE INDEX contact_organization_primary ON contact_organization (contact_id) WHERE is_primary;

CREATE TABLE field (
	id uuid NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	entity text NOT NULL,
	key text NOT NULL,
	label text NOT NULL,
	type text NOT NULL,
	options text[] DEFAULT '{}'[] NOT NULL,
	group_id uuid,
	sort_order integer DEFAULT 0 NOT NULL,
	source text DEFAULT '' NOT NULL,
	show_in_list boolean DEFAULT false NOT NULL,
	archived boolean DEFAULT false NOT NULL,
	created_at timestamp with time zone NOT NULL,
	CONSTRAINT field_pkey PRIMARY KEY (id),
	CONSTRAINT field_entity_key_key UNIQUE (entity, key),
	CONSTRAINT field_entity_check CHECK ((entity = ANY (ARRAY['contact', 'organization', 'submission']))),
	CONSTRAINT field_group_id_fkey FOREIGN KEY (group_id) REFERENCES field_group(id) ON DELETE SET NULL
);
CREATE INDEX field_of_group ON field (group_id);

CREATE TABLE field_group (
	id uuid NOT NULL,
	entity text NOT NULL,
	label text NOT NULL,
	sort_order integer DEFAULT 0 NOT NULL,
	created_at timestamp with time zone NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	CONSTRAINT field_group_pkey PRIMARY KEY (id),
	CONSTRAINT field_group_entity_check CHECK ((entity = ANY (ARRAY['contact', 'organization', 'submission'])))
);

CREATE TABLE former_address (
	email_key text NOT NULL,
	contact_id uuid NOT NULL,
	CONSTRAINT former_address_pkey PRIMARY KEY (email_key, contact_id),
	CONSTRAINT former_address_contact_id_fkey FOREIGN KEY (contact_id) REFERENCES contact(id) ON DELETE CASCADE
);
CREATE INDEX former_address_contact ON former_address (contact_id);

CREATE TABLE hand_over (
	from_user bigint NOT NULL,
	to_user bigint,
	actor jsonb NOT NULL,
	created_at timestamp with time zone NOT NULL,
	identity_version bigint DEFAULT 0 NOT NULL,
	CONSTRAINT hand_over_pkey PRIMARY KEY (from_user)
);

CREATE TABLE import (
	id uuid NOT NULL,
	user_id bigint NOT NULL,
	actor jsonb NOT NULL,
	file_name text NOT NULL,
	csv text NOT NULL,
	status text DEFAULT 'uploaded' NOT NULL,
	headers text[] NOT NULL,
	mapping text[] NOT NULL,
	options jsonb NOT NULL,
	preview jsonb NOT NULL,
	done_row integer DEFAULT 1 NOT NULL,
	revision integer DEFAULT 1 NOT NULL,
	rows integer DEFAULT 0 NOT NULL,
	created integer DEFAULT 0 NOT NULL,
	updated integer DEFAULT 0 NOT NULL,
	skipped integer DEFAULT 0 NOT NULL,
	failed integer DEFAULT 0 NOT NULL,
	created_at timestamp with time zone NOT NULL,
	finished_at timestamp with time zone,
	cells integer DEFAULT 0 NOT NULL,
	header integer DEFAULT 1 NOT NULL,
	separator text DEFAULT '' NOT NULL,
	removed integer DEFAULT 0 NOT NULL,
	restored integer DEFAULT 0 NOT NULL,
	kept integer DEFAULT 0 NOT NULL,
	undo_actor jsonb,
	undone_to uuid,
	CONSTRAINT import_pkey PRIMARY KEY (id),
	CONSTRAINT import_status_check CHECK ((status = ANY (ARRAY['uploaded', 'queued', 'running', 'checked', 'completed', 'failed', 'undoing', 'undone']))) NOT VALID
);
CREATE INDEX import_waiting ON import (created_at) WHERE (status = ANY (ARRAY['queued', 'running']));

CREATE TABLE import_contact (
	import_id uuid NOT NULL,
	contact_id uuid NOT NULL,
	created boolean NOT NULL,
	entries integer NOT NULL,
	changes jsonb DEFAULT '{}'::jsonb NOT NULL,
	organization_id uuid,
	former_id uuid,
	kept text DEFAULT '' NOT NULL,
	CONSTRAINT import_contact_pkey PRIMARY KEY (import_id, contact_id),
	CONSTRAINT import_contact_import_id_fkey FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE
);
CREATE INDEX import_contact_contact ON import_contact (contact_id);

CREATE TABLE import_error (
	import_id uuid NOT NULL,
	"row" integer NOT NULL,
	"column" text NOT NULL,
	code text NOT NULL,
	message text NOT NULL,
	cells text[] NOT NULL,
	details jsonb DEFAULT '{}'::jsonb NOT NULL,
	n integer DEFAULT 0 NOT NULL,
	dropped text DEFAULT 'row' NOT NULL,
	CONSTRAINT import_error_import_id_fkey FOREIGN KEY (import_id) REFERENCES import(id) ON DELETE CASCADE
);
CREATE INDEX import_error_row ON import_error (import_id, "row", n);

CREATE TABLE marketing_link (
	token bytea NOT NULL,
	kind text NOT NULL,
	contact_id uuid,
	email_key text NOT NULL,
	address_hash bytea NOT NULL,
	created_at timestamp with time zone NOT NULL,
	ended_at timestamp with time zone,
	language text DEFAULT '' NOT NULL,
	statement text DEFAULT '' NOT NULL,
	CONSTRAINT marketing_link_pkey PRIMARY KEY (token),
	CONSTRAINT marketing_link_kind_check CHECK ((kind = ANY (ARRAY['confirm', 'unsubscribe']))),
	CONSTRAINT marketing_link_contact_id_fkey FOREIGN KEY (contact_id) REFERENCES contact(id) ON DELETE SET NULL
);
CREATE INDEX marketing_link_address ON marketing_link (address_hash);
CREATE INDEX marketing_link_contact ON marketing_link (contact_id, kind, created_at);

CREATE TABLE news_seen (
	user_id bigint NOT NULL,
	seen_at timestamp with time zone NOT NULL,
	CONSTRAINT news_seen_pkey PRIMARY KEY (user_id)
);

CREATE TABLE organization (
	id uuid NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	name text NOT NULL,
	vat_number text DEFAULT '' NOT NULL,
	email text DEFAULT '' NOT NULL,
	phone text DEFAULT '' NOT NULL,
	website text DEFAULT '' NOT NULL,
	address_line text DEFAULT '' NOT NULL,
	postal_code text DEFAULT '' NOT NULL,
	city text DEFAULT '' NOT NULL,
	country text DEFAULT '' NOT NULL,
	owner_user_id bigint,
	fields jsonb DEFAULT '{}'::jsonb NOT NULL,
	name_key text DEFAULT '' NOT NULL,
	vat_key text DEFAULT '' NOT NULL,
	email_key text DEFAULT '' NOT NULL,
	search text GENERATED ALWAYS AS (fold(((((((name || ' ') || vat_number) || ' ') || email) || ' ') || city))) STORED NOT NULL,
	last_activity timestamp with time zone,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	deleted_at timestamp with time zone,
	CONSTRAINT organization_pkey PRIMARY KEY (id)
) WITH (fillfactor=90);
CREATE INDEX organization_active ON organization (COALESCE(last_activity, '0001-01-01 00:00:00+00'::timestamp with time zone) DESC, id DESC);
CREATE INDEX organization_by_name ON organization ("left"(fold(name), 200) COLLATE "C", id);
CREATE INDEX organization_email ON organization (email_key) WHERE ((deleted_at IS NULL) AND (email_key <> ''));
CREATE INDEX organization_name ON organization (name_key) WHERE ((deleted_at IS NULL) AND (name_key <> ''));
CREATE INDEX organization_order ON organization (created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX organization_owner ON organization (owner_user_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX organization_search ON organization USING gin (search gin_trgm_ops);
CREATE INDEX organization_updated ON organization (updated_at) WHERE (deleted_at IS NULL);
CREATE INDEX organization_vat ON organization (vat_key) WHERE ((deleted_at IS NULL) AND (vat_key <> ''));
CREATE TRIGGER organization_counted_delete AFTER DELETE ON organization REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION organization_counted();
CREATE TRIGGER organization_counted_insert AFTER INSERT ON organization REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION organization_counted();
CREATE TRIGGER organization_counted_update AFTER UPDATE ON organization REFERENCING OLD TABLE AS gone NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION organization_counted();
CREATE TRIGGER organization_stamp BEFORE INSERT OR UPDATE OF updated_at ON organization FOR EACH ROW EXECUTE FUNCTION stamp_updated_at();

CREATE TABLE organization_distinct (
	a uuid NOT NULL,
	b uuid NOT NULL,
	CONSTRAINT organization_distinct_pkey PRIMARY KEY (a, b),
	CONSTRAINT organization_distinct_a_fkey FOREIGN KEY (a) REFERENCES organization(id) ON DELETE CASCADE,
	CONSTRAINT organization_distinct_b_fkey FOREIGN KEY (b) REFERENCES organization(id) ON DELETE CASCADE
);
CREATE INDEX organization_distinct_b ON organization_distinct (b);

CREATE TABLE organization_news (
	organization_id uuid NOT NULL,
	after uuid NOT NULL,
	actor jsonb NOT NULL,
	CONSTRAINT organization_news_pkey PRIMARY KEY (organization_id),
	CONSTRAINT organization_news_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE CASCADE
);

CREATE TABLE submission (
	id uuid NOT NULL,
	version bigint NOT NULL,
	contact_id uuid,
	form_id bigint NOT NULL,
	form_name text DEFAULT '' NOT NULL,
	status text NOT NULL,
	created_at timestamp with time zone NOT NULL,
	people bytea[] DEFAULT '{}'::bytea[] NOT NULL,
	arrived_at timestamp with time zone,
	CONSTRAINT submission_pkey PRIMARY KEY (id)
);
CREATE INDEX submission_arrived ON submission (arrived_at) WHERE (arrived_at IS NOT NULL);
CREATE INDEX submission_contact ON submission (contact_id);
CREATE INDEX submission_people ON submission USING gin (people) WHERE (contact_id IS NULL);
CREATE INDEX submission_time ON submission (created_at);

CREATE TABLE tag (
	slug text NOT NULL,
	name text NOT NULL,
	created_at timestamp with time zone NOT NULL,
	deleting boolean DEFAULT false NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	CONSTRAINT tag_pkey PRIMARY KEY (slug)
);

CREATE TABLE tag_change (
	name text NOT NULL,
	slug text NOT NULL,
	actor jsonb NOT NULL,
	contacts_left integer NOT NULL,
	created_at timestamp with time zone NOT NULL,
	CONSTRAINT tag_change_pkey PRIMARY KEY (name),
	CONSTRAINT tag_change_slug_fkey FOREIGN KEY (slug) REFERENCES tag(slug) ON DELETE CASCADE
);
CREATE INDEX tag_change_slug ON tag_change (slug);

CREATE TABLE tag_name (
	key text NOT NULL,
	slug text NOT NULL,
	CONSTRAINT tag_name_pkey PRIMARY KEY (key),
	CONSTRAINT tag_name_slug_fkey FOREIGN KEY (slug) REFERENCES tag(slug) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX tag_name_slug ON tag_name (slug);

CREATE TABLE task (
	id uuid NOT NULL,
	version bigint NOT NULL,
	title text NOT NULL,
	body text DEFAULT '' NOT NULL,
	due_on date,
	owner_user_id bigint,
	contact_id uuid,
	organization_id uuid,
	appointment_id uuid,
	done_at timestamp with time zone,
	assigned_by bigint,
	assigned_at timestamp with time zone,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	place bigint GENERATED ALWAYS AS (
CASE
    WHEN (done_at IS NOT NULL) THEN ('1000000000000'::bigint - (EXTRACT(epoch FROM (done_at AT TIME ZONE 'UTC')))::bigint)
    WHEN (due_on IS NULL) THEN (10000000)::bigint
    ELSE ((due_on - '1970-01-01'::date))::bigint
END) STORED NOT NULL,
	CONSTRAINT task_pkey PRIMARY KEY (id),
	CONSTRAINT task_contact_id_fkey FOREIGN KEY (contact_id) REFERENCES contact(id) ON DELETE CASCADE,
	CONSTRAINT task_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organization(id) ON DELETE SET NULL
);
CREATE INDEX task_contact ON task (contact_id, place, id) WHERE (contact_id IS NOT NULL);
CREATE INDEX task_order ON task (place, id);
CREATE INDEX task_organization ON task (organization_id, place, id) WHERE (organization_id IS NOT NULL);
CREATE INDEX task_owner ON task (owner_user_id, place, id) WHERE (owner_user_id IS NOT NULL);

CREATE TABLE unsubscribed (
	address_hash bytea NOT NULL,
	created_at timestamp with time zone NOT NULL,
	CONSTRAINT unsubscribed_pkey PRIMARY KEY (address_hash)
);

CREATE OR REPLACE FUNCTION contact_booked_for()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
	update contact c set booked_for = n.names from (
		select c.id, coalesce(string_agg(distinct fold(a.booked_for) || ' ', '') filter (where a.booked_for <> ''), '') as names
		from contact c left join appointment a on a.contact_id = c.id
		where c.id = any(array[case when tg_op <> 'INSERT' then old.contact_id end, case when tg_op <> 'DELETE' then new.contact_id end]) group by c.id) n
	where c.id = n.id and c.booked_for <> n.names;
	return null;
end $function$;

CREATE OR REPLACE FUNCTION contact_changes()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
	new.changed := pg_current_xact_id();
	if new.created_at <> old.created_at then
		insert into contact_gone values (old.id, old.created_at);
	end if;
	return new;
end $function$;

CREATE OR REPLACE FUNCTION contacts_go()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
	insert into contact_gone select id, created_at from gone;
	return null;
end $function$;

CREATE OR REPLACE FUNCTION fold(text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
begin
	return lower(ext.unaccent('ext.unaccent'::regdictionary, translate($1, U&'\200c\200d', '')));
end $function$;

CREATE OR REPLACE FUNCTION organization_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
		begin
			case tg_op
			when 'INSERT' then
				insert into row_count select 'organization', array[(deleted_at is not null)::text, coalesce(owner_user_id::text, '')], count(*) from changed group by 2;
			when 'DELETE' then
				insert into row_count select 'organization', array[(deleted_at is not null)::text, coalesce(owner_user_id::text, '')], -count(*) from gone group by 2;
			else
				insert into row_count select 'organization', key, sum(n) from (select array[(deleted_at is not null)::text, coalesce(owner_user_id::text, '')] as key, 1 as n from changed union all select array[(deleted_at is not null)::text, coalesce(owner_user_id::text, '')], -1 from gone) x
					group by key having sum(n) <> 0;
			end case;
			return null;
		end $function$;

CREATE OR REPLACE FUNCTION tag_key(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$ select regexp_replace(fold(btrim(name)), '(?<=[[:alnum:]])[\s_-]+(?=[[:alnum:]])', ' ', 'g') $function$;
